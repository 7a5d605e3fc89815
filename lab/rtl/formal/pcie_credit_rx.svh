// Copyright hostwire contributors.
// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Properties of pcie_credit_rx, inside of it.

logic f_started = 1'b0;
always @(posedge clk_i) f_started <= 1'b1;
always @* if (!f_started) assume (!rst_ni);
always @* begin
  assume (read_class_i == update_class_o);
  assume (!update_taken_i || update_o);
  assume (free_class_i != 2'd3);
end

// A class, whichever: what left the buffer of it, and what was told last.
(* anyconst *) logic [1:0] f_class;
always @* assume (f_class != 2'd3);
logic [7:0]  f_header_freed, f_header_told;
logic [11:0] f_data_freed, f_data_told;
always @(posedge clk_i) begin
  if (!rst_ni) begin
    f_header_freed <= '0;
    f_data_freed   <= '0;
    f_header_told  <= Header[8*f_class +: 8];
    f_data_told    <= Data[12*f_class +: 12];
  end else begin
    if (free_valid_i && free_class_i == f_class) begin
      f_header_freed <= f_header_freed + 8'd1;
      f_data_freed   <= f_data_freed + 12'(free_data_i);
    end
    if (update_taken_i && update_class_o == f_class) begin
      f_header_told <= read_header_o;
      f_data_told   <= read_data_o;
    end
  end
end

always @* if (f_started && rst_ni) begin
  // What was given is what there was at first and what left the buffer.
  assert (header_q[8*f_class +: 8] == Header[8*f_class +: 8] + f_header_freed);
  assert (data_q[12*f_class +: 12] == Data[12*f_class +: 12] + f_data_freed);
  // What was not told is going to be.
  if (!pending_q[f_class]) assert (f_header_told == header_q[8*f_class +: 8] && f_data_told == data_q[12*f_class +: 12]);
  // Needed by the induction: the arbiter keeps a grant for a class with something to tell.
  assert (turn == '0 || (turn & pending_q) == turn);
  assert ((turn & (turn - 3'd1)) == '0 && (update_o == (turn != '0)));
end
