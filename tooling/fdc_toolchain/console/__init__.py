"""What commands of fdc and of packs share: options, progress, and how the end of a run is told."""
