"""Other tools that people work with: Apache Arrow and Parquet, Ray."""
