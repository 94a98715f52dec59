"""Reading the web: which addresses may be reached, how an answer is fetched, what of it is worth reading."""
