// Properties of ht_rx_cmd_queue, inside of it: with two ports as with one, commands come out as they went in.

logic f_started = 1'b0;
always @(posedge clk_i) f_started <= 1'b1;
always @* if (!f_started) assume (!rst_ni);
always @* if (f_started) assume (rst_ni);

// How many there are, counted on their own.
logic [AddrW+1:0] f_count;
logic [AddrW+1:0] f_more;
assign f_more = Ports == 1 ? (AddrW+2)'(write_i[0]) : (AddrW+2)'(write_i[0]) + (AddrW+2)'(write_i[Ports-1]);
// A partner that keeps to its credits.
always @* if (f_started) assume (f_count + f_more <= (AddrW+2)'(Depth));
always @(posedge clk_i) begin
  if (!rst_ni) f_count <= '0;
  else f_count <= f_count + f_more - (AddrW+2)'(pop_i && valid_o);
end

// One command, whichever of both ports.
(* anyseq *) logic [Ports-1:0] f_pick;
logic f_follow;
logic [AddrW:0] f_ahead;
logic [Width-1:0] f_data;
always @(posedge clk_i) begin
  if (!rst_ni) f_follow <= 1'b0;
  else if (!f_follow && f_pick[0] && write_i[0]) begin
    f_follow <= 1'b1;
    f_ahead  <= f_count[AddrW:0] - (AddrW+1)'(pop_i && valid_o);
    f_data   <= data_i[0+:Width];
  end else if (!f_follow && f_pick[Ports-1] && write_i[Ports-1]) begin
    f_follow <= 1'b1;
    f_ahead  <= f_count[AddrW:0] + (AddrW+1)'(write_i[0]) - (AddrW+1)'(pop_i && valid_o);
    f_data   <= data_i[(Ports-1)*Width+:Width];
  end else if (f_follow && pop_i && valid_o) begin
    f_ahead <= f_ahead - 1'b1;
    if (f_ahead == '0) f_follow <= 1'b0;
  end
end

always @* if (f_started) begin
  assert (!overflow_o);
  assert ((AddrW+2)'(used) == f_count);
  assert (valid_o == (f_count != '0));
  if (f_follow && f_ahead == '0) assert (valid_o && data_o == f_data);
  cover (f_count == (AddrW+2)'(Depth));
end
