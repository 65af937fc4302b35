"""What every page stands in: the frame, what it is read with, navigation, widgets."""
