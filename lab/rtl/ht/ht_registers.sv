// Copyright hostwire contributors.
// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The registers of the configuration space: header, two base addresses of 64 bits, and the HyperTransport capability
// at 0x40. Logs of errors, widths and frequency survive a reset of the link; a cold reset clears them. A width that
// software writes takes effect at the next reset of the link.

module ht_registers #(
  parameter int unsigned Width    = 8,
  parameter logic [15:0] VendorId = 16'h1022,
  parameter logic [15:0] DeviceId = 16'h0001,
  parameter int unsigned Bar0Bits = 20,
  parameter int unsigned Bar1Bits = 12
) (
  input  logic               clk_i,
  input  logic               rst_ni,       // any reset of the link
  input  logic               cold_rst_ni,
  input  logic               in_reset_i,   // as rst_ni, but a level in this clock

  input  logic [5:0]         addr_i,       // dword
  input  logic [3:0]         write_i,      // bytes
  input  logic [31:0]        data_i,
  output logic [31:0]        data_o,

  // What has happened, for one clock each.
  input  logic [Width/8-1:0] crc_error_i,
  input  logic               protocol_error_i,
  input  logic               overflow_error_i,
  input  logic               sync_i,
  input  logic               run_i,
  input  logic               connected_i,

  output logic               flood_o,      // Sync is to be sent, until reset
  output logic               force_error_o,
  output logic [4:0]         unit_o,
  output logic               memory_o,
  output logic               master_o,     // requests may be sent
  output logic [63:Bar0Bits] bar0_o,
  output logic [63:Bar1Bits] bar1_o,
  output logic               wide_in_o,
  output logic               wide_out_o,
  output logic [3:0]         frequency_o
);
  localparam logic [2:0] MaxWidth = Width == 16 ? 3'd1 : 3'd0;
  // 200 and 400 MHz.
  localparam logic [15:0] Frequencies = 16'h0005;

  // Reset with the link.
  logic memory_q, master_q, crc_flood_q, force_q, protocol_flood_q, overflow_flood_q, flood_q;
  logic [4:0] unit_q;
  logic [15:0] scratch_q;
  logic [63:Bar0Bits] bar0_q;
  logic [63:Bar1Bits] bar1_q;

  // Reset with power.
  logic [1:0] crc_log_q;
  logic link_fail_q, protocol_log_q, overflow_log_q, chain_fail_q;
  logic [3:0] frequency_q;
  logic wide_in_q, wide_out_q, wide_in_now_q, wide_out_now_q;
  logic [3:0] frequency_now_q;

  logic [31:0] mask;
  assign mask = {{8{write_i[3]}}, {8{write_i[2]}}, {8{write_i[1]}}, {8{write_i[0]}}};

  logic [31:0] control, frequencies, errors;
  assign control = {1'b0, 2'd0, wide_out_q, 1'b0, 2'd0, wide_in_q, 1'b0, MaxWidth, 1'b0, MaxWidth,
                    6'd0, crc_log_q, 1'b0, !connected_i, run_i, link_fail_q, force_q, 1'b0, crc_flood_q, 1'b0};
  assign frequencies = {Frequencies, 2'd0, overflow_log_q, protocol_log_q, frequency_q, 8'h40};
  assign errors      = {7'd0, chain_fail_q, 6'd0, overflow_flood_q, protocol_flood_q, scratch_q};

  logic [63:0] bar0, bar1;
  assign bar0 = {bar0_q, {(Bar0Bits - 4) {1'b0}}, 4'hc};
  assign bar1 = {bar1_q, {(Bar1Bits - 4) {1'b0}}, 4'hc};

  always_comb begin
    unique case (addr_i)
      6'h00: data_o = {DeviceId, VendorId};
      6'h01: data_o = {1'b0, flood_q, 9'd0, 1'b1, 17'd0, master_q, memory_q, 1'b0};
      6'h02: data_o = 32'h0280_0000;  // network controller
      6'h04: data_o = bar0[31:0];
      6'h05: data_o = bar0[63:32];
      6'h06: data_o = bar1[31:0];
      6'h07: data_o = bar1[63:32];
      6'h0d: data_o = 32'h0000_0040;  // where capabilities begin
      // Slave, one unit.
      6'h10: data_o = {3'd0, 3'd0, 5'd1, unit_q, 8'h00, 8'h08};
      6'h11: data_o = control;
      6'h12: data_o = 32'h7777_00c0;  // there is no second link: end of the chain
      6'h13: data_o = frequencies;
      6'h15: data_o = errors;
      default: data_o = '0;
    endcase
  end

  logic [31:0] bar0_low, bar0_high, bar1_low, bar1_high;
  assign bar0_low  = (bar0[31:0] & ~mask) | (data_i & mask);
  assign bar0_high = (bar0[63:32] & ~mask) | (data_i & mask);
  assign bar1_low  = (bar1[31:0] & ~mask) | (data_i & mask);
  assign bar1_high = (bar1[63:32] & ~mask) | (data_i & mask);

  logic unused_low;
  assign unused_low = &{bar0_low[Bar0Bits-1:0], bar1_low[Bar1Bits-1:0]};

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      memory_q         <= 1'b0;
      master_q         <= 1'b0;
      crc_flood_q      <= 1'b0;
      force_q          <= 1'b0;
      protocol_flood_q <= 1'b0;
      overflow_flood_q <= 1'b0;
      unit_q           <= '0;
      scratch_q        <= '0;
      bar0_q           <= '0;
      bar1_q           <= '0;
    end else begin
      unique case (addr_i)
        6'h01: if (write_i[0]) {master_q, memory_q} <= data_i[2:1];
        6'h04: bar0_q[31:Bar0Bits] <= bar0_low[31:Bar0Bits];
        6'h05: bar0_q[63:32] <= bar0_high;
        6'h06: bar1_q[31:Bar1Bits] <= bar1_low[31:Bar1Bits];
        6'h07: bar1_q[63:32] <= bar1_high;
        6'h10: if (write_i[2]) unit_q <= data_i[20:16];
        6'h11: if (write_i[0]) {force_q, crc_flood_q} <= {data_i[3], data_i[1]};
        6'h15: begin
          if (write_i[0]) scratch_q[7:0] <= data_i[7:0];
          if (write_i[1]) scratch_q[15:8] <= data_i[15:8];
          if (write_i[2]) {overflow_flood_q, protocol_flood_q} <= data_i[17:16];
        end
        default: ;
      endcase
    end
  end

  // Sync of the partner is passed on; a device at the end of a chain sends it back.
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) flood_q <= 1'b0;
    else if (sync_i || (|crc_error_i && crc_flood_q) || (protocol_error_i && protocol_flood_q) ||
             (overflow_error_i && overflow_flood_q)) flood_q <= 1'b1;
  end

  logic write_control, write_frequency, write_errors;
  assign write_control   = addr_i == 6'h11;
  assign write_frequency = addr_i == 6'h13;
  assign write_errors    = addr_i == 6'h15;

  always_ff @(posedge clk_i or negedge cold_rst_ni) begin
    if (!cold_rst_ni) begin
      crc_log_q      <= '0;
      link_fail_q    <= 1'b0;
      protocol_log_q <= 1'b0;
      overflow_log_q <= 1'b0;
      chain_fail_q   <= 1'b0;
      frequency_q    <= '0;
      wide_in_q      <= 1'b0;
      wide_out_q     <= 1'b0;
    end else begin
      // A one clears; what happens in the same clock stays.
      if (write_control && write_i[0] && data_i[4]) link_fail_q <= 1'b0;
      if (write_control && write_i[1]) crc_log_q <= crc_log_q & ~data_i[9:8];
      if (write_frequency && write_i[1]) begin
        frequency_q    <= data_i[11:8];
        protocol_log_q <= protocol_log_q && !data_i[12];
        overflow_log_q <= overflow_log_q && !data_i[13];
      end
      if (write_errors && write_i[3] && data_i[24]) chain_fail_q <= 1'b0;
      if (Width == 16 && write_control && write_i[3]) begin
        wide_in_q  <= data_i[26:24] == 3'd1;
        wide_out_q <= data_i[30:28] == 3'd1;
      end
      if (crc_error_i[0]) crc_log_q[0] <= 1'b1;
      if (crc_error_i[Width/8-1] && Width == 16) crc_log_q[1] <= 1'b1;
      if (|crc_error_i && crc_flood_q) link_fail_q <= 1'b1;
      if (protocol_error_i) protocol_log_q <= 1'b1;
      if (overflow_error_i) overflow_log_q <= 1'b1;
      if (sync_i) chain_fail_q <= 1'b1;
    end
  end

  // While the link is in reset.
  always_ff @(posedge clk_i or negedge cold_rst_ni) begin
    if (!cold_rst_ni) begin
      wide_in_now_q   <= 1'b0;
      wide_out_now_q  <= 1'b0;
      frequency_now_q <= '0;
    end else if (in_reset_i) begin
      wide_in_now_q   <= wide_in_q;
      wide_out_now_q  <= wide_out_q;
      frequency_now_q <= frequency_q;
    end
  end

  assign flood_o       = flood_q;
  assign force_error_o = force_q;
  assign unit_o        = unit_q;
  assign memory_o      = memory_q;
  assign master_o      = master_q;
  assign bar0_o        = bar0_q;
  assign bar1_o        = bar1_q;
  assign wide_in_o     = wide_in_now_q;
  assign wide_out_o    = wide_out_now_q;
  assign frequency_o   = frequency_now_q;
endmodule
