"""What the servers of other people read: code quality of GitLab, and the marks by which findings are known again."""
