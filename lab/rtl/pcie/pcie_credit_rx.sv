// Copyright hostwire contributors.
// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Credits that this end gives: the first ones, and more as TLPs leave the receive buffer.
//
// An UpdateFC that was lost is made good by the next one; all classes are told again every `Refresh` cycles.

module pcie_credit_rx #(
  // Credits at first: headers, and units of 16 bytes of data, for P, NP and Cpl from the lowest bits up.
  // 0 is without limit.
  parameter logic [3*8-1:0]  Header  = {8'd8, 8'd8, 8'd16},
  parameter logic [3*12-1:0] Data    = {12'd32, 12'd8, 12'd128},
  // Cycles until an update goes before TLPs, and between times that everything is told again.
  parameter int unsigned     Latency = 64,
  parameter int unsigned     Refresh = 4096
) (
  input  logic        clk_i,
  input  logic        rst_ni,

  input  logic        free_valid_i,
  input  logic [1:0]  free_class_i,
  input  logic [8:0]  free_data_i,

  // The credits of a class as they are now.
  input  logic [1:0]  read_class_i,
  output logic [7:0]  read_header_o,
  output logic [11:0] read_data_o,

  // An update to send.
  output logic        update_o,
  output logic        update_urgent_o,
  output logic [1:0]  update_class_o,
  input  logic        update_taken_i
);

  localparam int unsigned WaitW    = $clog2(Latency + 1);
  localparam int unsigned RefreshW = $clog2(Refresh + 1);

  logic [3*8-1:0]      header_q;
  logic [3*12-1:0]     data_q;
  // Classes with something to tell, and whose turn it is.
  logic [2:0]          pending_q, turn;
  logic [WaitW-1:0]    wait_q;
  logic [RefreshW-1:0] refresh_q;
  logic                refresh;

  arbiter #(
    .Count (3)
  ) u_arbiter (
    .clk_i,
    .rst_ni,
    .req_i     (pending_q),
    .gnt_o     (turn),
    .advance_i (update_taken_i)
  );

  assign refresh         = (refresh_q == RefreshW'(Refresh));
  assign update_o        = (pending_q != '0);
  assign update_urgent_o = (wait_q == WaitW'(Latency));
  assign update_class_o  = turn[2] ? pcie_pkg::Completion :
                           turn[1] ? pcie_pkg::NonPosted : pcie_pkg::Posted;
  assign read_header_o   = header_q[8*read_class_i +: 8];
  assign read_data_o     = data_q[12*read_class_i +: 12];

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      header_q  <= Header;
      data_q    <= Data;
      pending_q <= '0;
      wait_q    <= '0;
      refresh_q <= '0;
    end else begin
      refresh_q <= refresh ? '0 : refresh_q + 1'b1;
      if (!update_o | update_taken_i) wait_q <= '0;
      else if (!update_urgent_o) wait_q <= wait_q + 1'b1;
      for (int unsigned c = 0; c < 3; c++) begin
        if (free_valid_i & (free_class_i == 2'(c))) begin
          if (Header[8*c +: 8] != '0) header_q[8*c +: 8]  <= header_q[8*c +: 8] + 8'd1;
          if (Data[12*c +: 12] != '0) data_q[12*c +: 12] <= data_q[12*c +: 12] + {3'd0, free_data_i};
          pending_q[c] <= 1'b1;
        end else if (refresh) begin
          pending_q[c] <= 1'b1;
        end else if (update_taken_i & turn[c]) begin
          pending_q[c] <= 1'b0;
        end
      end
    end
  end

endmodule
