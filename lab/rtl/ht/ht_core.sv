// Copyright hostwire contributors.
// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The HT-Core: a HyperTransport link of 8 or 16 bits on one side, six queues on the other.
//
//   pins -> deserialiser, FIFO, CRC check -> decode -> three queues for the user's logic
//                                              |-> configuration, credits
//   pins <- serialiser <- CRC <- output generator <- three queues of the user's logic
//
// Channels are posted (0), non-posted (1), response (2). A command has 96 bits (ht_pkg); its data follows in words of
// 64 bits, from a new word on. Received data can be read after its command has been taken. core_clk_i has half the
// frequency of the link, tx_clk_i that of the link; their edges meet. rx_clk_i comes with the data, at any phase.

module ht_core #(
  parameter int unsigned Width    = 8,
  parameter int unsigned Depth    = 32,        // packets in each queue
  parameter logic [15:0] VendorId = 16'h1022,
  parameter logic [15:0] DeviceId = 16'h0001,
  parameter int unsigned Bar0Bits = 20,
  parameter int unsigned Bar1Bits = 12
) (
  input  logic                      core_clk_i,
  input  logic                      tx_clk_i,
  input  logic                      pwrok_i,
  input  logic                      reset_ni,

  // Link.
  input  logic                      rx_clk_i,
  input  logic                      rx_ctl_i,
  input  logic [Width-1:0]          rx_cad_i,
  output logic                      tx_ctl_o,
  output logic [Width-1:0]          tx_cad_o,

  // Received packets.
  output logic [2:0]                rx_cmd_valid_o,
  output logic [3*ht_pkg::CmdW-1:0] rx_cmd_o,
  input  logic [2:0]                rx_cmd_ready_i,
  output logic [2:0]                rx_data_valid_o,
  output logic [3*64-1:0]           rx_data_o,
  output logic [2:0]                rx_data_last_o,
  input  logic [2:0]                rx_data_ready_i,

  // Packets to send.
  input  logic [2:0]                tx_cmd_valid_i,
  input  logic [3*ht_pkg::CmdW-1:0] tx_cmd_i,
  output logic [2:0]                tx_cmd_ready_o,
  input  logic [2:0]                tx_data_valid_i,
  input  logic [3*64-1:0]           tx_data_i,
  output logic [2:0]                tx_data_ready_o,

  // State, for the user's logic and the clocks around it.
  output logic                      user_rst_no,
  output logic                      link_up_o,
  output logic                      broken_o,       // Sync is sent; only a reset helps
  output logic [Width/8-1:0]        crc_error_o,    // for one clock
  output logic                      protocol_error_o,
  output logic                      overflow_error_o,
  output logic                      dropped_o,      // a posted packet for nobody
  output logic [4:0]                unit_o,
  output logic                      master_o,
  output logic [3:0]                frequency_o     // of the link, as the specification numbers them
);
  localparam int unsigned Steps = Width / 8;

  // Resets, one for each clock.
  logic reset_n, core_rst_n, tx_rst_n, rx_rst_n, cold_rst_n;
  assign reset_n = pwrok_i && reset_ni;

  reset_sync u_core_reset (
    .clk_i (core_clk_i),
    .rst_ni(reset_n),
    .rst_no(core_rst_n)
  );

  reset_sync u_tx_reset (
    .clk_i (tx_clk_i),
    .rst_ni(reset_n),
    .rst_no(tx_rst_n)
  );

  reset_sync u_rx_reset (
    .clk_i (rx_clk_i),
    .rst_ni(reset_n),
    .rst_no(rx_rst_n)
  );

  reset_sync u_cold_reset (
    .clk_i (core_clk_i),
    .rst_ni(pwrok_i),
    .rst_no(cold_rst_n)
  );

  // Input.
  logic [Steps-1:0] dword_valid, dword_ctl, crc_error;
  logic [4*Width-1:0] dword;
  logic ctl_seen, rx_running, ctl_error, rx_overflow, rx_overflow_q, wide_in, wide_out, run, flood;

  ht_receiver #(
    .Width(Width)
  ) u_receiver (
    .core_clk_i,
    .core_rst_ni(core_rst_n),
    .rx_clk_i,
    .rx_rst_ni  (rx_rst_n),
    .rx_ctl_i,
    .rx_cad_i,
    .wide_i     (wide_in),
    .ctl_seen_o (ctl_seen),
    .running_o  (rx_running),
    .valid_o    (dword_valid),
    .ctl_o      (dword_ctl),
    .dword_o    (dword),
    .crc_error_o(crc_error),
    .ctl_error_o(ctl_error),
    .overflow_o (rx_overflow)
  );

  logic [Steps-1:0] cmd_valid, data_valid, data_high, data_last, nop;
  logic [2*Steps-1:0] cmd_channel, data_channel;
  logic [ht_pkg::RxCmdW*Steps-1:0] cmd;
  logic sync, decode_error, memory;
  logic [63:Bar0Bits] bar0;
  logic [63:Bar1Bits] bar1;

  ht_decode #(
    .Steps   (Steps),
    .Bar0Bits(Bar0Bits),
    .Bar1Bits(Bar1Bits)
  ) u_decode (
    .clk_i         (core_clk_i),
    .rst_ni        (core_rst_n),
    .stop_i        (flood),
    .valid_i       (dword_valid),
    .ctl_i         (dword_ctl),
    .dword_i       (dword),
    .memory_i      (memory),
    .bar0_i        (bar0),
    .bar1_i        (bar1),
    .cmd_valid_o   (cmd_valid),
    .cmd_channel_o (cmd_channel),
    .cmd_o         (cmd),
    .data_valid_o  (data_valid),
    .data_channel_o(data_channel),
    .data_high_o   (data_high),
    .data_last_o   (data_last),
    .nop_o         (nop),
    .sync_o        (sync),
    .error_o       (decode_error)
  );

  // Three channels.
  logic [2:0] queue_overflow, own_cmd_valid, own_cmd_config, own_cmd_pop, own_data_valid, own_data_pop;
  logic [3*64-1:0] own_cmd;
  logic [5:0] free;

  for (genvar c = 0; c < 3; c++) begin : gen_rx
    logic [Steps-1:0] cmd_write, data_write;
    for (genvar s = 0; s < Steps; s++) begin : gen_step
      assign cmd_write[s]  = cmd_valid[s] && cmd_channel[2*s+:2] == 2'(c);
      assign data_write[s] = data_valid[s] && data_channel[2*s+:2] == 2'(c);
    end

    ht_rx_channel #(
      .Depth(Depth),
      .Ports(Steps)
    ) u_channel (
      .clk_i            (core_clk_i),
      .rst_ni           (core_rst_n),
      .cmd_write_i      (cmd_write),
      .cmd_i            (cmd),
      .data_write_i     (data_write),
      .data_high_i      (data_high),
      .data_last_i      (data_last),
      .data_i           (dword),
      .overflow_o       (queue_overflow[c]),
      .user_cmd_valid_o (rx_cmd_valid_o[c]),
      .user_cmd_o       (rx_cmd_o[ht_pkg::CmdW*c+:ht_pkg::CmdW]),
      .user_cmd_ready_i (rx_cmd_ready_i[c]),
      .user_data_valid_o(rx_data_valid_o[c]),
      .user_data_o      (rx_data_o[64*c+:64]),
      .user_data_last_o (rx_data_last_o[c]),
      .user_data_ready_i(rx_data_ready_i[c]),
      .own_cmd_valid_o  (own_cmd_valid[c]),
      .own_cmd_config_o (own_cmd_config[c]),
      .own_cmd_o        (own_cmd[64*c+:64]),
      .own_cmd_pop_i    (own_cmd_pop[c]),
      .own_data_valid_o (own_data_valid[c]),
      .own_data_pop_i   (own_data_pop[c]),
      .cmd_free_o       (free[2*c]),
      .data_free_o      (free[2*c+1])
    );
  end

  // What the core takes itself.
  ht_drop u_drop (
    .cmd_valid_i (own_cmd_valid[0]),
    .has_data_i  (own_cmd[5:3] == ht_pkg::CmdWritePosted),
    .cmd_pop_o   (own_cmd_pop[0]),
    .data_valid_i(own_data_valid[0]),
    .data_last_i (rx_data_last_o[0]),
    .data_pop_o  (own_data_pop[0])
  );

  assign own_cmd_pop[2]  = 1'b0;
  assign own_data_pop[2] = 1'b0;
  assign dropped_o       = own_cmd_pop[0];

  logic [5:0] reg_addr;
  logic [3:0] reg_write;
  logic [31:0] reg_wdata, reg_rdata, answer, answer_data;
  logic answer_valid;
  logic [3:0] source_pop;

  ht_config u_config (
    .clk_i         (core_clk_i),
    .rst_ni        (core_rst_n),
    .cmd_valid_i   (own_cmd_valid[1]),
    .cmd_config_i  (own_cmd_config[1]),
    .cmd_i         (own_cmd[64+:64]),
    .cmd_pop_o     (own_cmd_pop[1]),
    .data_valid_i  (own_data_valid[1]),
    .data_i        (rx_data_o[64+:64]),
    .data_last_i   (rx_data_last_o[1]),
    .data_pop_o    (own_data_pop[1]),
    .unit_i        (unit_o),
    .addr_o        (reg_addr),
    .write_o       (reg_write),
    .wdata_o       (reg_wdata),
    .rdata_i       (reg_rdata),
    .answer_valid_o(answer_valid),
    .answer_o      (answer),
    .answer_data_o (answer_data),
    .answer_pop_i  (source_pop[3])
  );

  // Whether there is a partner: it drives ones while the link is in reset.
  logic [7:0] cad_seen;
  logic connected_q, force_error, in_reset, out_of_reset;

  // The reset of the link as a level: what is latched during it survives it.
  synchroniser u_in_reset (
    .clk_i (core_clk_i),
    .rst_ni(cold_rst_n),
    .d_i   (reset_ni),
    .q_o   (out_of_reset)
  );
  assign in_reset = !out_of_reset;

  synchroniser #(
    .Width(8)
  ) u_connected (
    .clk_i (core_clk_i),
    .rst_ni(cold_rst_n),
    .d_i   (rx_cad_i[7:0]),
    .q_o   (cad_seen)
  );

  always_ff @(posedge core_clk_i or negedge cold_rst_n) begin
    if (!cold_rst_n) connected_q <= 1'b0;
    else if (in_reset) connected_q <= cad_seen == 8'hff;
  end

  always_ff @(posedge core_clk_i or negedge core_rst_n) begin
    if (!core_rst_n) rx_overflow_q <= 1'b0;
    else rx_overflow_q <= rx_overflow;
  end

  assign crc_error_o      = crc_error;
  assign protocol_error_o = (decode_error || ctl_error) && !flood;
  assign overflow_error_o = |queue_overflow || (rx_overflow && !rx_overflow_q);
  assign broken_o         = flood;
  assign link_up_o        = run && rx_running;
  assign user_rst_no      = core_rst_n;

  ht_registers #(
    .Width   (Width),
    .VendorId(VendorId),
    .DeviceId(DeviceId),
    .Bar0Bits(Bar0Bits),
    .Bar1Bits(Bar1Bits)
  ) u_registers (
    .clk_i           (core_clk_i),
    .rst_ni          (core_rst_n),
    .cold_rst_ni     (cold_rst_n),
    .in_reset_i      (in_reset),
    .addr_i          (reg_addr),
    .write_i         (reg_write),
    .data_i          (reg_wdata),
    .data_o          (reg_rdata),
    .crc_error_i     (crc_error),
    .protocol_error_i(protocol_error_o),
    .overflow_error_i(overflow_error_o),
    .sync_i          (sync),
    .run_i           (link_up_o),
    .connected_i     (connected_q),
    .flood_o         (flood),
    .force_error_o   (force_error),
    .unit_o,
    .memory_o        (memory),
    .master_o,
    .bar0_o          (bar0),
    .bar1_o          (bar1),
    .wide_in_o       (wide_in),
    .wide_out_o      (wide_out),
    .frequency_o
  );

  // Output.
  logic [1:0] pattern;
  logic hold, nop_sent, nop_urgent;
  logic [5:0] available, take;
  logic [31:0] nop_dword;

  ht_init u_init (
    .clk_i      (core_clk_i),
    .rst_ni     (core_rst_n),
    .connected_i(connected_q),
    .ctl_seen_i (ctl_seen),
    .pattern_o  (pattern),
    .run_o      (run)
  );

  ht_credits #(
    .Steps  (Steps),
    .Buffers(Depth)
  ) u_credits (
    .clk_i       (core_clk_i),
    .rst_ni      (core_rst_n),
    .nop_i       (nop),
    .dword_i     (dword),
    .take_i      (take),
    .available_o (available),
    .free_i      (free),
    .nop_sent_i  (nop_sent),
    .nop_o       (nop_dword),
    .nop_urgent_o(nop_urgent)
  );

  localparam int unsigned CountW = $clog2(Depth) + 2;
  logic [CountW-1:0] posted_given_q, posted_given, posted_sent_q;
  logic [3:0] source_valid;
  logic [3*ht_pkg::TxCmdW-1:0] source_cmd;
  logic [2:0] tx_data_valid, tx_data_pop;
  logic [3*64-1:0] tx_data;

  assign posted_given = posted_given_q + CountW'(tx_cmd_valid_i[0] && tx_cmd_ready_o[0]);

  always_ff @(posedge core_clk_i or negedge core_rst_n) begin
    if (!core_rst_n) begin
      posted_given_q <= '0;
      posted_sent_q  <= '0;
    end else begin
      posted_given_q <= posted_given;
      posted_sent_q  <= posted_sent_q + CountW'(source_pop[0]);
    end
  end

  for (genvar c = 0; c < 3; c++) begin : gen_tx
    ht_tx_cmd_queue #(
      .Depth  (Depth),
      .Ordered(c != ht_pkg::Posted)
    ) u_cmd (
      .clk_i         (core_clk_i),
      .rst_ni        (core_rst_n),
      .valid_i       (tx_cmd_valid_i[c]),
      .ready_o       (tx_cmd_ready_o[c]),
      .cmd_i         (tx_cmd_i[ht_pkg::CmdW*c+:ht_pkg::TxCmdW]),
      .valid_o       (source_valid[c]),
      .cmd_o         (source_cmd[ht_pkg::TxCmdW*c+:ht_pkg::TxCmdW]),
      .pop_i         (source_pop[c]),
      .posted_given_i(posted_given),
      .posted_sent_i (posted_sent_q)
    );

    ht_tx_data_queue #(
      .Words(8 * Depth)
    ) u_data (
      .clk_i  (core_clk_i),
      .rst_ni (core_rst_n),
      .valid_i(tx_data_valid_i[c]),
      .ready_o(tx_data_ready_o[c]),
      .data_i (tx_data_i[64*c+:64]),
      .valid_o(tx_data_valid[c]),
      .data_o (tx_data[64*c+:64]),
      .pop_i  (tx_data_pop[c])
    );

    logic unused_cmd;
    assign unused_cmd = &tx_cmd_i[ht_pkg::CmdW*c+ht_pkg::TxCmdW+:ht_pkg::CmdW-ht_pkg::TxCmdW];
  end

  assign source_valid[3] = answer_valid;

  logic [Steps-1:0] packet_ctl;
  logic [4*Width-1:0] packet_dword;

  ht_output_gen #(
    .Width(Width)
  ) u_output_gen (
    .clk_i       (core_clk_i),
    .rst_ni      (core_rst_n),
    .run_i       (run),
    .hold_i      (hold),
    .wide_i      (wide_out),
    .cmd_valid_i (source_valid),
    .cmd_i       (source_cmd),
    .own_cmd_i   (answer),
    .cmd_pop_o   (source_pop),
    .data_valid_i(tx_data_valid),
    .data_i      (tx_data),
    .own_data_i  (answer_data),
    .data_pop_o  (tx_data_pop),
    .available_i (available),
    .take_o      (take),
    .nop_i       (nop_dword),
    .nop_urgent_i(nop_urgent),
    .nop_sent_o  (nop_sent),
    .ctl_o       (packet_ctl),
    .dword_o     (packet_dword)
  );

  logic [4*Width+3:0] word;

  ht_transmitter #(
    .Width(Width)
  ) u_transmitter (
    .clk_i        (core_clk_i),
    .rst_ni       (core_rst_n),
    .pattern_i    (pattern),
    .run_i        (run),
    .flood_i      (flood),
    .force_error_i(force_error),
    .wide_i       (wide_out),
    .hold_o       (hold),
    .ctl_i        (packet_ctl),
    .dword_i      (packet_dword),
    .word_o       (word)
  );

  ht_serialiser #(
    .Width(Width)
  ) u_serialiser (
    .core_clk_i,
    .core_rst_ni(core_rst_n),
    .clk_i      (tx_clk_i),
    .rst_ni     (tx_rst_n),
    .word_i     (word),
    .ctl_o      (tx_ctl_o),
    .cad_o      (tx_cad_o)
  );

  logic unused;
  assign unused = &{own_cmd[3*64-1:2*64], own_cmd[63:6], own_cmd[2:0], own_cmd_valid[2], own_cmd_config[2],
                    own_cmd_config[0], own_data_valid[2]};
endmodule
