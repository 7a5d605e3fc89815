// Copyright hostwire contributors.
// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Block RAM of dwords with byte enables. What was read stays until the next read.

module example_ram #(
  parameter int unsigned AddrW = 12
) (
  input  logic             clk_i,
  input  logic [AddrW-1:0] addr_i,
  input  logic [3:0]       write_i,
  input  logic [31:0]      wdata_i,
  input  logic             read_i,
  output logic [31:0]      rdata_o
);
  for (genvar b = 0; b < 4; b++) begin : gen_byte
    logic [7:0] mem [1 << AddrW];
    logic [7:0] byte_q;

    always_ff @(posedge clk_i) begin
      if (write_i[b]) mem[addr_i] <= wdata_i[8*b+:8];
      if (read_i) byte_q <= mem[addr_i];
    end

    assign rdata_o[8*b+:8] = byte_q;
  end
endmodule
