// Copyright hostwire contributors.
// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Received commands of one channel: as many can be written in a clock as there are dwords in one, one can be read.
// With two ports it has two banks, whose entries alternate.

module ht_rx_cmd_queue #(
  parameter int unsigned Width = 92,
  parameter int unsigned Depth = 32,
  parameter int unsigned Ports = 1
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  input  logic [Ports-1:0]       write_i,
  input  logic [Ports*Width-1:0] data_i,
  output logic                   valid_o,
  output logic [Width-1:0]       data_o,
  input  logic                   pop_i,
  output logic                   overflow_o  // the partner sends without credit; nothing is written
);
  localparam int unsigned AddrW = $clog2(Depth);

  logic [AddrW:0] wptr_q, rptr_q, used;

  assign used    = wptr_q - rptr_q;
  assign valid_o = wptr_q != rptr_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) rptr_q <= '0;
    else if (pop_i && valid_o) rptr_q <= rptr_q + 1'b1;
  end

  if (Ports == 1) begin : gen_one
    logic [Width-1:0] mem [Depth];
    logic write;

    assign overflow_o = write_i && used[AddrW];
    assign write      = write_i && !used[AddrW];
    assign data_o     = mem[rptr_q[AddrW-1:0]];

    always_ff @(posedge clk_i) if (write) mem[wptr_q[AddrW-1:0]] <= data_i;

    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) wptr_q <= '0;
      else if (write) wptr_q <= wptr_q + 1'b1;
    end
  end else begin : gen_two
    logic [Width-1:0] even [Depth/2];
    logic [Width-1:0] odd [Depth/2];
    logic [AddrW:0] wptr1;
    logic [AddrW-1:0] even_at, odd_at;
    logic [Width-1:0] even_data, odd_data;
    logic write0, write1, even_write, odd_write;

    assign write0     = write_i[0] && !used[AddrW];
    assign wptr1      = wptr_q + {{AddrW{1'b0}}, write0};
    assign write1     = write_i[1] && (wptr1 - rptr_q) < (AddrW + 1)'(Depth);
    assign overflow_o = (write_i[0] && !write0) || (write_i[1] && !write1);

    assign even_write = (write0 && !wptr_q[0]) || (write1 && !wptr1[0]);
    assign odd_write  = (write0 && wptr_q[0]) || (write1 && wptr1[0]);
    assign even_at    = write0 && !wptr_q[0] ? wptr_q[AddrW-1:0] : wptr1[AddrW-1:0];
    assign odd_at     = write0 && wptr_q[0] ? wptr_q[AddrW-1:0] : wptr1[AddrW-1:0];
    assign even_data  = write0 && !wptr_q[0] ? data_i[0+:Width] : data_i[Width+:Width];
    assign odd_data   = write0 && wptr_q[0] ? data_i[0+:Width] : data_i[Width+:Width];
    assign data_o     = rptr_q[0] ? odd[rptr_q[AddrW-1:1]] : even[rptr_q[AddrW-1:1]];

    always_ff @(posedge clk_i) begin
      if (even_write) even[even_at[AddrW-1:1]] <= even_data;
      if (odd_write) odd[odd_at[AddrW-1:1]] <= odd_data;
    end

    always_ff @(posedge clk_i or negedge rst_ni) begin
      if (!rst_ni) wptr_q <= '0;
      else wptr_q <= wptr1 + {{AddrW{1'b0}}, write1};
    end

    logic unused_low;
    assign unused_low = even_at[0] ^ odd_at[0];
  end
endmodule
