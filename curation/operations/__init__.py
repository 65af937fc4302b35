"""Operations of curation; some add to resources of apps to the left."""
