"""Tables, figures and the web page: the last step of the flow."""
