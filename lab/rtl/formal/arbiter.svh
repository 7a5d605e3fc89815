// Copyright hostwire contributors.
// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Properties of arbiter, inside of it.

logic f_started = 1'b0;
always @(posedge clk_i) f_started <= 1'b1;
always @* if (!f_started) assume (!rst_ni);

// A requester, whichever, and for how many others it has waited.
(* anyconst *) logic [$clog2(Count)-1:0] f_me;
always @* assume ({30'd0, f_me} < Count);
logic [$clog2(Count+1)-1:0] f_others;
initial f_others = '0;
always @(posedge clk_i) begin
  if (!rst_ni || !req_i[f_me] || gnt_o[f_me]) f_others <= '0;
  else if (advance_i && gnt_o != '0) f_others <= f_others + 1'b1;
end

// Steps from the one that had its turn last, whose followers are `mask`, up to `f_me`: 1 to Count.
function automatic [31:0] f_distance(input logic [Count-1:0] mask);
  f_distance = 0;
  for (int unsigned i = 0; i < Count; i++) begin
    if (mask[f_me] ? (mask[i] && i <= {30'd0, f_me}) : (mask[i] || i <= {30'd0, f_me})) f_distance = f_distance + 1;
  end
endfunction

always @* if (f_started && rst_ni) begin
  // One grant at most, and only to who asks or has it already.
  assert ((gnt_o & (gnt_o - Count'(1))) == '0);
  assert ((gnt_o & ~req_i & ~kept_q) == '0);
  assert (req_i == '0 || gnt_o != '0);
  // Who asks waits for at most Count - 1 others.
  assert ({30'd0, f_others} <= Count - 1);
  // Needed by the induction.
  assert ((kept_q & (kept_q - Count'(1))) == '0);
  assert ((behind_q | (behind_q << 1)) == behind_q);
  if (kept_q == '0) assert ({30'd0, f_others} + f_distance(behind_q) <= Count);
  else if (!kept_q[f_me]) assert ({30'd0, f_others} + 1 + f_distance(above(kept_q)) <= Count);
end

logic             f_past_kept;
logic [Count-1:0] f_past_gnt;
initial f_past_kept = 1'b0;
always @(posedge clk_i) begin
  f_past_kept <= rst_ni && gnt_o != '0 && !advance_i;
  f_past_gnt  <= gnt_o;
end
always @* if (f_started && rst_ni) begin
  // A grant stays until it is done.
  if (f_past_kept) assert (gnt_o == f_past_gnt && kept_q == f_past_gnt);
  else assert (kept_q == '0);
  cover ({30'd0, f_others} == Count - 1);
end
