// Copyright hostwire contributors.
// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Properties of link_ring, inside of it: a packet begins with its head, and jumps go to packets that are kept.

logic f_started = 1'b0;
always @(posedge clk_i) f_started <= 1'b1;
always @* if (!f_started) assume (!rst_ni);

// Packets that come are well formed. What is kept moves on, past packets that are here as a whole.
logic f_inside;
logic [SeqW-1:0] f_whole, f_keep, f_kept, f_jump;
assign f_whole = seq_q - SeqW'(f_inside);  // packets that are here as a whole
assign f_keep  = keep_i - f_kept;
assign f_jump  = jump_to_i - keep_i;
always @(posedge clk_i) begin
  if (!rst_ni) begin
    f_inside <= 1'b0;
    f_kept   <= '0;
  end else begin
    if (push) f_inside <= phit_i[17:16] != net_pkg::Last;
    f_kept <= keep_i;
  end
end
always @* begin
  assume (phit_i[17:16] != net_pkg::None);
  assume (is_head == !f_inside);
  assume (f_keep <= f_whole - f_kept);
  assume (f_jump <= f_whole - keep_i);
end

// A word, whichever: by its packet and its place in it.
(* anyconst *) logic [SeqW-1:0] f_seq;
(* anyconst *) logic [AddrW:0]  f_index;
logic [SeqW-1:0] f_write_seq, f_read_seq;
logic [AddrW:0] f_write_index, f_read_index;
logic f_known;
logic [net_pkg::PhitW-1:0] f_word;
assign f_write_seq = is_head ? seq_q : seq_q - 1'b1;
always @(posedge clk_i) begin
  if (!rst_ni) begin
    f_known       <= 1'b0;
    f_write_index <= '0;
    f_read_seq    <= '0;
    f_read_index  <= '0;
  end else begin
    if (push) begin
      f_write_index <= phit_i[17:16] == net_pkg::Last ? '0 : f_write_index + 1'b1;
      if (f_write_seq == f_seq && f_write_index == f_index) begin
        f_known <= 1'b1;
        f_word  <= phit_i;
      end else if (f_write_seq == f_seq && f_write_index == '0) f_known <= 1'b0;
    end
    if (jump_i) begin
      f_read_seq   <= jump_to_i;
      f_read_index <= '0;
    end else if (valid_q && ready_i) begin
      f_read_index <= phit_o[17:16] == net_pkg::Last ? '0 : f_read_index + 1'b1;
      if (phit_o[17:16] == net_pkg::Last) f_read_seq <= f_read_seq + 1'b1;
    end
  end
end

// What is read is kept.
logic [SeqW-1:0] f_reading;
assign f_reading = f_read_seq - keep_i;
always @* assume (f_reading <= seq_q - keep_i);

always @* if (f_started && rst_ni) begin
  assert (wptr_q - keep_ptr_q <= (AddrW+1)'(Words));
  assert (seq_q - keep_i <= SeqW'(Messages));
  if (valid_q && f_read_seq == f_seq && f_read_index == f_index) assert (f_known && f_word == phit_o);
end
