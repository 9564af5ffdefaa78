"""A cell beside other ways to compute the same: baselines, other back ends, other sizes."""
