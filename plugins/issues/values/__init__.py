"""What the events of an issue differ in: the values of their messages, and the words that find them."""
