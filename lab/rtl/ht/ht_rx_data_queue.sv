// Copyright hostwire contributors.
// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Received data of one channel: dwords are written, words of 64 bits are read. A packet begins with a new word. Two
// block RAMs, one for each half; the last dword of a packet has a mark.

module ht_rx_data_queue #(
  parameter int unsigned Words = 256,
  parameter int unsigned Ports = 1
) (
  input  logic                clk_i,
  input  logic                rst_ni,
  input  logic [Ports-1:0]    write_i,
  input  logic [Ports-1:0]    high_i,
  input  logic [Ports-1:0]    last_i,
  input  logic [32*Ports-1:0] data_i,
  output logic                valid_o,
  output logic [63:0]         data_o,
  output logic                last_o,
  input  logic                pop_i,
  output logic                overflow_o
);
  localparam int unsigned AddrW = $clog2(Words);

  logic [32:0] low_mem [Words];
  logic [32:0] high_mem [Words];

  logic [AddrW:0] wptr_q, rptr_q, wptr0, wptr1;
  logic [AddrW-1:0] low_at, high_at;
  logic [32:0] low_data, high_data, low_q, high_q;
  logic low_write, high_write, full, fetch, valid_q;

  // A dword goes to the word at hand, which ends with its upper half or with the packet.
  assign wptr0 = wptr_q + {{AddrW{1'b0}}, write_i[0] && (high_i[0] || last_i[0])};
  assign full  = (wptr_q - rptr_q) >= (AddrW + 1)'(Words - 1);

  if (Ports == 1) begin : gen_one
    assign wptr1      = wptr0;
    assign low_write  = write_i[0] && !high_i[0] && !full;
    assign high_write = write_i[0] && high_i[0] && !full;
    assign low_at     = wptr_q[AddrW-1:0];
    assign high_at    = wptr_q[AddrW-1:0];
    assign low_data   = {last_i[0], data_i[31:0]};
    assign high_data  = {last_i[0], data_i[31:0]};
  end else begin : gen_two
    logic low0, high0;
    assign wptr1      = wptr0 + {{AddrW{1'b0}}, write_i[1] && (high_i[1] || last_i[1])};
    assign low0       = write_i[0] && !high_i[0];
    assign high0      = write_i[0] && high_i[0];
    assign low_write  = (low0 || (write_i[1] && !high_i[1])) && !full;
    assign high_write = (high0 || (write_i[1] && high_i[1])) && !full;
    assign low_at     = low0 ? wptr_q[AddrW-1:0] : wptr0[AddrW-1:0];
    assign high_at    = high0 ? wptr_q[AddrW-1:0] : wptr0[AddrW-1:0];
    assign low_data   = low0 ? {last_i[0], data_i[31:0]} : {last_i[1], data_i[63:32]};
    assign high_data  = high0 ? {last_i[0], data_i[31:0]} : {last_i[1], data_i[63:32]};
  end

  assign overflow_o = |write_i && full;

  always_ff @(posedge clk_i) if (low_write) low_mem[low_at] <= low_data;
  always_ff @(posedge clk_i) if (high_write) high_mem[high_at] <= high_data;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) wptr_q <= '0;
    else if (!full) wptr_q <= wptr1;
  end

  // The next word is read before somebody asks for it.
  assign fetch = wptr_q != rptr_q && (!valid_q || pop_i);

  always_ff @(posedge clk_i) begin
    if (fetch) begin
      low_q  <= low_mem[rptr_q[AddrW-1:0]];
      high_q <= high_mem[rptr_q[AddrW-1:0]];
    end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      rptr_q  <= '0;
      valid_q <= 1'b0;
    end else begin
      if (fetch) rptr_q <= rptr_q + 1'b1;
      if (fetch) valid_q <= 1'b1;
      else if (pop_i) valid_q <= 1'b0;
    end
  end

  assign valid_o = valid_q;
  assign data_o  = {high_q[31:0], low_q[31:0]};
  assign last_o  = low_q[32] || high_q[32];
endmodule
