"""What commands of fdc and of packs share: options, progress, and the summary of a run."""
