// Copyright hostwire contributors.
// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Properties of pcie_rx_buffer, inside of it.

logic f_started = 1'b0;
always @(posedge clk_i) f_started <= 1'b1;
always @* if (!f_started) assume (!rst_ni);
// The last beat of a good TLP finds room, see pcie_rx_path.
always @* assume (!(wvalid_i && wlast_i) || write);
logic f_drop;
assign f_drop = wdrop_i && !(wvalid_i && wlast_i);

logic [AddrW:0] f_used, f_complete;
assign f_used     = wptr_q - rptr_q;
assign f_complete = complete_q - rptr_q;

// A beat, whichever, is followed from its place to the output.
(* anyconst *) logic [AddrW:0] f_place;
logic             f_known, f_out;
logic [Width-1:0] f_beat, f_out_beat;
initial begin
  f_known = 1'b0;
  f_out   = 1'b0;
end
always @(posedge clk_i) begin
  if (!rst_ni) begin
    f_known <= 1'b0;
    f_out   <= 1'b0;
  end else begin
    if (f_drop && f_place - rptr_q >= f_complete) f_known <= 1'b0;
    else if (write && wptr_q == f_place) begin
      f_known <= 1'b1;
      f_beat  <= {wlast_i, wkeep_i, wdata_i};
    end else if (fetch && rptr_q == f_place) f_known <= 1'b0;
    if (fetch && rptr_q == f_place) begin
      f_out      <= 1'b1;
      f_out_beat <= f_beat;
    end else if (rready_i) f_out <= 1'b0;
  end
end

always @* if (f_started && rst_ni) begin
  // No overflow; only what is complete leaves.
  assert (f_used <= (AddrW+1)'(Words) && f_complete <= f_used);
  // What was written stays, until it leaves or its TLP is dropped.
  if (f_known) begin
    assert (f_place - rptr_q < f_used);
    assert (storage[f_place[AddrW-1:0]] == f_beat);
  end else assert (f_place - rptr_q >= f_used);
  if (f_out) assert (rvalid_q && rword_q == f_out_beat);
  // A TLP gives its credits back when its last beat leaves.
  assert (!free_valid_o || (rvalid_o && rready_i && rlast_o));
  cover (rvalid_o && rptr_q == '0);
end
