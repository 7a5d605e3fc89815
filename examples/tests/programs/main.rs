//! The example programs, run as a user would: `hostwire run -n N PROGRAM`.

mod chain;
mod greet;
mod gups;
mod heat2d;
mod hello;
mod job;
mod structures;
mod tutorial;
mod wordcount;
