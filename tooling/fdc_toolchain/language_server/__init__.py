"""`fdc lsp`: plans in editors, over the Language Server Protocol. Needs the extra `lsp`; imports `fdc_toolchain.api` only."""
