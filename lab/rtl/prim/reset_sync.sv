// Copyright hostwire contributors.
// SPDX-License-Identifier: MIT OR Apache-2.0
//
// A reset that begins at once and ends with the clock of its domain.

module reset_sync (
  input  logic clk_i,
  input  logic rst_ni,
  output logic rst_no
);
  synchroniser #(
    .Width(1)
  ) u_sync (
    .clk_i,
    .rst_ni,
    .d_i  (1'b1),
    .q_o  (rst_no)
  );
endmodule
