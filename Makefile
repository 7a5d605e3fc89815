# The chores of this repository. The work is in scripts/; see CONTRIBUTING.md.

.DEFAULT_GOAL := help
.PHONY: help run test test-long test-arm rtl site vm-demo bench install uninstall

help: ## Say what there is to make
	@echo 'make TARGET, where TARGET is one of'
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  \1\t\2/p' $(MAKEFILE_LIST) | expand -t 14

run: ## Build, run the example programs and benchmarks, and say what was seen
	@scripts/run.sh

test: ## Everything that CI checks
	@scripts/test.sh

test-long: ## Slow suites: ignored tests, many more cases for the random ones
	@scripts/test-long.sh

test-arm: ## The runtime, the examples, libshmem and the provider on 64-bit Arm, emulated elsewhere
	@scripts/test-arm.sh

rtl: ## The hardware in lab/rtl: lint, tests, proofs, synthesis, one table; see scripts/rtl.sh
	@scripts/rtl.sh

site: ## The documents as pages for a browser: target/site/html; see scripts/site.sh
	@scripts/site.sh

vm-demo: ## A message between two virtual machines that share memory (wire window); see scripts/vm-demo.sh
	@scripts/vm-demo.sh $(VM)

bench: ## Measure hostwire beside the limits of this machine
	@scripts/bench.sh

PREFIX ?= /usr/local
CARGO ?= cargo
destdir = $(if $(DESTDIR),--destdir '$(DESTDIR)')

install: ## Install OpenSHMEM, the launcher, its manual, example clusters and the dissector below PREFIX (default /usr/local), or DESTDIR
	@$(CARGO) xtask install --prefix '$(PREFIX)' $(destdir)

uninstall: ## Remove what install put there
	@$(CARGO) xtask uninstall --prefix '$(PREFIX)' $(destdir)
