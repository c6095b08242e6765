"""Reports for code hosts: GitLab's code quality, and fingerprints that recognise a finding again."""
