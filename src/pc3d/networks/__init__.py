"""The networks: a shared recurrent actor, four critics, and the teacher inside one of them."""
