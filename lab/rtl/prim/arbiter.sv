// Copyright hostwire contributors.
// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Round-robin arbiter that keeps its grant.
//
// A grant stays with its requester until `advance_i` (the last beat of a packet, say), even if the
// request falls meanwhile. Then the turn passes to the next requester: who asks without a break waits
// for at most Count - 1 others.

module arbiter #(
  parameter int unsigned Count = 2
) (
  input  logic             clk_i,
  input  logic             rst_ni,

  input  logic [Count-1:0] req_i,
  // One bit at most: whose turn it is. Of the requests of this cycle, unless a grant is kept.
  output logic [Count-1:0] gnt_o,
  // The one that holds the grant is done with it after this cycle.
  input  logic             advance_i
);

  // The grant of the cycle before, if it is kept.
  logic [Count-1:0] kept_q;
  // Requesters behind the one that had its turn last; they go first.
  logic [Count-1:0] behind_q;

  logic [Count-1:0] first, any_first, any_behind;
  assign any_behind = lowest(req_i & behind_q);
  assign any_first  = lowest(req_i);
  assign first      = (any_behind != '0) ? any_behind : any_first;
  assign gnt_o      = (kept_q != '0) ? kept_q : first;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      kept_q   <= '0;
      behind_q <= '0;
    end else if (advance_i) begin
      kept_q <= '0;
      if (gnt_o != '0) behind_q <= above(gnt_o);
    end else begin
      kept_q <= gnt_o;
    end
  end

  // The lowest bit that is set.
  function automatic logic [Count-1:0] lowest(input logic [Count-1:0] bits);
    lowest = bits & (~bits + Count'(1));
  endfunction

  // All bits above the only one that is set.
  function automatic logic [Count-1:0] above(input logic [Count-1:0] bit_set);
    above = ~(bit_set | (bit_set - Count'(1)));
  endfunction

endmodule
