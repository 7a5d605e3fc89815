// Copyright hostwire contributors.
// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Registers of the example design: what writes and reads of the host have done, and when, so that software can measure
// its bandwidth.

module example_registers (
  input  logic        clk_i,
  input  logic        rst_ni,

  input  logic [5:0]  addr_i,       // of a dword
  input  logic [3:0]  write_i,
  input  logic [31:0] wdata_i,
  input  logic        read_i,
  output logic [31:0] rdata_o,

  input  logic        ram_dword_i,  // a dword is written into the block RAM
  input  logic        ram_wrote_i,  // the last one of a posted write
  input  logic        answered_i    // a read
);
  localparam logic [31:0] Id = 32'h4845_5831;

  logic [31:0] scratch_q, clocks_q, writes_q, dwords_q, begin_q, end_q, reads_q, value;
  logic clear;

  assign clear = write_i != '0 && addr_i == 6'd8;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      scratch_q <= '0;
      clocks_q  <= '0;
      writes_q  <= '0;
      dwords_q  <= '0;
      begin_q   <= '0;
      end_q     <= '0;
      reads_q   <= '0;
    end else begin
      clocks_q <= clocks_q + 32'd1;
      for (int unsigned b = 0; b < 4; b++) begin
        if (write_i[b] && addr_i == 6'd1) scratch_q[8*b+:8] <= wdata_i[8*b+:8];
      end
      if (ram_wrote_i) writes_q <= writes_q + 32'd1;
      if (answered_i) reads_q <= reads_q + 32'd1;
      if (ram_dword_i) begin
        dwords_q <= dwords_q + 32'd1;
        end_q    <= clocks_q;
        if (dwords_q == '0) begin_q <= clocks_q;
      end
      if (clear) begin
        writes_q <= '0;
        dwords_q <= '0;
        begin_q  <= '0;
        end_q    <= '0;
        reads_q  <= '0;
      end
    end
  end

  always_comb begin
    unique case (addr_i)
      6'd0: value = Id;
      6'd1: value = scratch_q;
      6'd2: value = clocks_q;
      6'd3: value = writes_q;
      6'd4: value = dwords_q;
      6'd5: value = begin_q;
      6'd6: value = end_q;
      6'd7: value = reads_q;
      default: value = '0;
    endcase
  end

  always_ff @(posedge clk_i) if (read_i) rdata_o <= value;
endmodule
