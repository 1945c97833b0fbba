"""What each operation does, one module for each subject; operations/commands lists them."""
