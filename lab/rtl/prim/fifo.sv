// Copyright hostwire contributors.
// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Synchronous first-in first-out queue with valid/ready on both sides.
//
// A word can be taken in the cycle after it was put in. `wready_o` does not depend on `rready_i`, and
// `rvalid_o` does not depend on `wvalid_i`: no combinational path leads through the queue.

module fifo #(
  parameter int unsigned Width = 32,
  parameter int unsigned Depth = 4,
  localparam int unsigned DepthW = $clog2(Depth + 1)
) (
  input  logic              clk_i,
  input  logic              rst_ni,

  input  logic              wvalid_i,
  output logic              wready_o,
  input  logic [Width-1:0]  wdata_i,

  output logic              rvalid_o,
  input  logic              rready_i,
  output logic [Width-1:0]  rdata_o,

  // Words in the queue.
  output logic [DepthW-1:0] depth_o
);

  localparam int unsigned PtrW = (Depth > 1) ? $clog2(Depth) : 1;
  localparam logic [PtrW-1:0] Last = PtrW'(Depth - 1);

  logic [Width-1:0]  storage [Depth];
  logic [PtrW-1:0]   wptr_q, rptr_q;
  logic [DepthW-1:0] depth_q;

  logic push, pop;
  assign push = wvalid_i & wready_o;
  assign pop  = rvalid_o & rready_i;

  assign wready_o = (depth_q != DepthW'(Depth));
  assign rvalid_o = (depth_q != '0);
  assign rdata_o  = storage[rptr_q];
  assign depth_o  = depth_q;

  always_ff @(posedge clk_i) begin
    if (push) storage[wptr_q] <= wdata_i;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      wptr_q  <= '0;
      rptr_q  <= '0;
      depth_q <= '0;
    end else begin
      if (push) wptr_q <= (wptr_q == Last) ? '0 : wptr_q + 1'b1;
      if (pop)  rptr_q <= (rptr_q == Last) ? '0 : rptr_q + 1'b1;
      depth_q <= depth_q + DepthW'(push) - DepthW'(pop);
    end
  end

endmodule
