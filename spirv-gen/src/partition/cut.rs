//! The partitioner for programs of any size.

use super::architecture::Architecture;
use super::dag::Dag;
use super::mio::mio;
use super::mrds::mrds;
use super::outcome::Partition;

/// Operations times multiply referenced nodes up to which MRDS searches: about a second's time.
const SEARCH_MAX: usize = 200_000;

/// Cuts with MRDS where its search is quick, else with Mio.
pub fn cut(dag: &Dag, architecture: &Architecture) -> Partition {
    let search = dag.postorder().len() * dag.multiply_referenced().len();
    if search <= SEARCH_MAX { mrds(dag, architecture) } else { mio(dag, architecture).partition }
}
