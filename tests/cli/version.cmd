$W --version
