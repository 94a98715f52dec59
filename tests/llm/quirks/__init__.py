"""What real endpoints do, one test for each way in which they differ, named after it."""
