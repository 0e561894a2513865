//! Records as text, tables, files and charts, each over `impl Write`.

mod axis_chart;
mod canvas;
mod ceilings;
mod chart;
mod comparison;
mod html;
mod intensities;
mod kernels;
mod links;
mod occupancy;
mod occupancy_chart;
mod plot;
mod predicted;
mod roofs;
mod rows;
mod run;
mod saved_chart;
mod scaling_chart;
pub mod terminal;

pub use crate::table::{Cell, Format, Row, StudyRows, Width, counted};
pub use axis_chart::AxisChart;
pub use canvas::{ChartError, ChartFormat};
pub use ceilings::{ceilings_json, ceilings_table};
pub use chart::Chart;
pub use comparison::{comparison_text, spread_table};
pub use html::HtmlReport;
pub use kernels::{kernels_rows, kernels_table};
pub use links::{LinksPicture, links_table};
pub use occupancy::{model_table, study_summary, study_text};
pub use occupancy_chart::OccupancyChart;
pub use plot::Paint;
pub use rows::{RowText, file_row_text, row_text, rows_table};
pub use run::RunFacts;
pub use saved_chart::{SavedChart, SavedRow};
pub use scaling_chart::{ScalingChart, ScalingRow};
