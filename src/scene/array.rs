//! Arrays of a shape.

use std::ops::Deref;
use std::sync::Arc;

/// Values that no longer change and that several owners share. Unlike an `Arc<[T]>`, it takes over the memory of a
/// vector without a copy.
#[derive(Clone, Debug, PartialEq)]
pub struct ShapeArray<T>(Arc<Vec<T>>);

impl<T> Deref for ShapeArray<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.0
    }
}

impl<T> Default for ShapeArray<T> {
    fn default() -> Self {
        Vec::new().into()
    }
}

impl<T> From<Vec<T>> for ShapeArray<T> {
    fn from(mut values: Vec<T>) -> Self {
        values.shrink_to_fit();
        Self(Arc::new(values))
    }
}

impl<T, const N: usize> From<[T; N]> for ShapeArray<T> {
    fn from(values: [T; N]) -> Self {
        Vec::from(values).into()
    }
}

impl<T> FromIterator<T> for ShapeArray<T> {
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Self {
        values.into_iter().collect::<Vec<T>>().into()
    }
}
