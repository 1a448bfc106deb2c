"""Instance folders, one module per problem kind: how the folder is read and written."""
