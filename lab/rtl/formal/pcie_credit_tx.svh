// Copyright hostwire contributors.
// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Properties of pcie_credit_tx, inside of it, with a receiver that keeps its promises: it gives f_header and
// f_data credits at first, and gives back what leaves its buffer. An update is on its way as long as it likes.

logic f_started = 1'b0;
always @(posedge clk_i) f_started <= 1'b1;
always @* if (!f_started) assume (!rst_ni);

(* anyconst *) logic [7:0]  f_header;
(* anyconst *) logic [DataW-1:0] f_data;
always @* assume (f_header >= 8'd1 && f_header <= 8'd127 && f_data != '0 && !f_data[DataW-1]);

// In the receiver: what lies in its buffer, and all that it has given, modulo the width of the counters.
logic [7:0]  f_header_held, f_header_given, f_header_told;
logic [DataW-1:0] f_data_held, f_data_given, f_data_told;
logic        f_told, f_init;
(* anyseq *) logic        f_send, f_deliver, f_free;
(* anyseq *) logic [DataW-1:0] f_free_data;
initial begin
  f_told = 1'b0;
  f_init = 1'b1;
end

always @* begin
  assume (!f_free || (f_header_held != '0 && f_free_data <= f_data_held));
  assume (!take_i || (allow_o && !f_init));
  assume (32'(need_data_i) < 32'd1 << (DataW - 1) && need_data_i <= 9'd256);
  assume (limit_valid_i == (f_init | (f_told & f_deliver)));
  assume (limit_init_i == f_init);
  assume (limit_header_i == (f_init ? f_header : f_header_told));
  assume (limit_data_i == (f_init ? f_data : f_data_told));
end

always @(posedge clk_i) begin
  if (!rst_ni) begin
    f_init         <= 1'b1;
    f_told         <= 1'b0;
    f_header_held  <= '0;
    f_data_held    <= '0;
    f_header_given <= f_header;
    f_data_given   <= f_data;
  end else begin
    f_init         <= 1'b0;
    f_header_held  <= f_header_held + 8'(take_i) - 8'(f_free);
    f_data_held    <= f_data_held + (take_i ? DataW'(need_data_i) : DataW'(0)) - (f_free ? f_free_data : DataW'(0));
    f_header_given <= f_header_given + 8'(f_free);
    f_data_given   <= f_data_given + (f_free ? f_free_data : DataW'(0));
    if (!f_told && f_send && !f_init) begin
      f_told        <= 1'b1;
      f_header_told <= f_header_given;
      f_data_told   <= f_data_given;
    end else if (f_deliver) f_told <= 1'b0;
  end
end

// How far above what was taken: what the sender knows, what is on its way, what was given.
logic [7:0]       f_h_known, f_h_told, f_h_given;
logic [DataW-1:0] f_d_known, f_d_told, f_d_given;
assign f_h_known = header_limit_q - header_taken_q;
assign f_h_told  = f_header_told - header_taken_q;
assign f_h_given = f_header_given - header_taken_q;
assign f_d_known = data_limit_q - data_taken_q;
assign f_d_told  = f_data_told - data_taken_q;
assign f_d_given = f_data_given - data_taken_q;

always @* if (f_started && rst_ni && !f_init) begin
  // The buffer of the receiver never overflows.
  assert (f_header_held <= f_header && f_data_held <= f_data);
  // No credit is lost: all that is not in the buffer was given, and once the sender knows it, it may take it.
  assert (f_h_given == f_header - f_header_held && f_d_given == f_data - f_data_held);
  if (header_limit_q == f_header_given && data_limit_q == f_data_given)
    assert (allow_o == (f_header_held < f_header &&
                        (need_data_i == '0 || DataW'(need_data_i) <= f_data - f_data_held)));
  // Needed by the induction: nothing goes back.
  assert (!header_endless_q && !data_endless_q);
  assert (f_h_known <= f_h_given && f_d_known <= f_d_given);
  if (f_told) begin
    assert (f_h_known <= f_h_told && f_h_told <= f_h_given);
    assert (f_d_known <= f_d_told && f_d_told <= f_d_given);
  end
  cover (header_taken_q == 8'd3 && f_header == 8'd1);
end
always @* if (f_started && rst_ni && f_init) begin
  assert (header_taken_q == '0 && data_taken_q == '0 && !f_told && f_header_held == '0 && f_data_held == '0);
  assert (f_header_given == f_header && f_data_given == f_data);
end
