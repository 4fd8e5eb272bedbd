"""`data`: whether a file of training examples is what PaddleNLP's fine-tuning reads."""
