"""What the model sees: sections, budget, assembly. All pure."""
