# Everything goes through two targets: `make demo` and `make test`. Each does all set-up first.
# Set-up may have installed Rust just now.
export PATH := $(HOME)/.cargo/bin:$(PATH)
CARGO ?= cargo
# The laboratory, which starts target/release/splitplane, the UPF.
LAB := target/release/splitplane-lab

.PHONY: demo test attack kills takeover setup build deb image check fuzz-smoke bench clean

demo: setup build
	$(LAB) demo
	@# Its radio is UDP between namespaces' processes, its UEs TUN devices: root only.
	[ "$$(id -u)" != 0 ] || $(LAB) demo --gnb --download-mb 20 --out out/gnb
	@# And handovers between two gNodeBs.
	[ "$$(id -u)" != 0 ] || $(LAB) demo --gnb --datapath entities --ues 4 --download-mb 20 --out out/handover

test: setup
	./scripts/test

# Minutes, as root, in namespaces of its own: docs/security.md.
attack: setup build
	$(LAB) attack --out target/attack

# Some minutes: the daemon is killed 500 times, and nothing may be lost that its SMF was told.
kills: setup
	KILLS=500 $(CARGO) test --release --locked -p splitplane --test kills -- --nocapture

# As root, half a minute: how long until packets pass through a standby when the active node is killed, with the default lease.
takeover: setup
	LEASE_MS=1000 $(CARGO) test --release --locked -p splitplane --test standby -- --nocapture traffic_goes_on

setup:
	./scripts/setup

build:
	./scripts/build

# A Debian package: docs/install.md.
deb: setup build
	./scripts/package

# An OCI image, without a container engine.
image: deb
	./scripts/image

check:
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets --locked -- -D warnings

bench: build
	$(LAB) bench all

fuzz-smoke:
	./scripts/fuzz smoke

clean:
	$(CARGO) clean
