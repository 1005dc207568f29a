//! Settings of a job for reports, from its options.
//!
//! Must not know: formats. Start reading at [`ReportSettings`].

use ferrio_spec::DEFAULT_PERCENTILES;
use serde::{Deserialize, Serialize};

/// Settings of a job for reports. The default is that of a job without any of these options.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReportSettings {
    /// `kb_base`: 1024 or 1000.
    pub kb_base: u32,
    /// Bandwidth is shown in bits.
    pub unit_bits: bool,
    pub significant_figures: u32,
    /// `percentile_list`.
    pub percentiles: Vec<f64>,
    /// Digits behind the decimal point in the list.
    pub percentile_digits: u32,
    pub clat_percentiles: bool,
    pub lat_percentiles: bool,
    pub slat_percentiles: bool,
    /// `unified_rw_reporting=mixed`: all directions count as one, in the read slot.
    pub unified_mixed: bool,
    /// `unified_rw_reporting=both`: a summed block after the directions.
    pub unified_both: bool,
    /// `continue_on_error` or `ignore_error` is active: the line of errors is shown.
    pub show_errors: bool,
    /// `group_reporting`: the job's figures are summed with those of the workers before it in its group.
    pub group_reporting: bool,
    /// `report_total`: the job is part of the sum over all groups. Records of earlier versions do not have this.
    #[serde(default)]
    pub report_total: bool,
    /// The runtime that this worker has drawn, microseconds; `None`: `runtime` is no distribution.
    #[serde(default)]
    pub drawn_runtime_us: Option<u64>,
    /// `stats`: the job is reported at all.
    pub is_reported: bool,
}

impl Default for ReportSettings {
    fn default() -> Self {
        Self {
            kb_base: 1024,
            unit_bits: false,
            significant_figures: 4,
            percentiles: DEFAULT_PERCENTILES.to_vec(),
            percentile_digits: 2,
            clat_percentiles: true,
            lat_percentiles: false,
            slat_percentiles: false,
            unified_mixed: false,
            unified_both: false,
            show_errors: false,
            group_reporting: false,
            report_total: false,
            drawn_runtime_us: None,
            is_reported: true,
        }
    }
}
