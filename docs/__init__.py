"""The pages, and what fills them."""
