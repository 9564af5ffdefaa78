// The builder's default names modules by a hash that covers the folder they were built in. Numbered in the order of
// use, the same sources give the same bytes everywhere, so that the committed assets can be checked.
module.exports = { optimization: { moduleIds: 'natural' } };
