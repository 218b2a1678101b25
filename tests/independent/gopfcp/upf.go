// The UPF: the binary, with a configuration of ours.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

const config = `
[control]
socket = "%[1]s/upf.sock"

[n4]
listen = "%[2]s:8805"
heartbeat_s = 1
associate = ["%[3]s"]
graceful_release_s = 600

[host]
gtpu_echo_s = 60

[[port]]
name = "n3"
driver = "udp"
listen = "%[2]s:2152"
role = "access"
network_instance = "access"

[[port]]
name = "n6"
driver = "pcap"
output = "%[1]s/n6.pcap"
role = "core"
network_instance = "internet"
mac = "02:00:00:00:06:01"
addresses = ["10.6.0.1/24"]

[[route]]
network_instance = "internet"
prefix = "0.0.0.0/0"
via = "10.6.0.2"

[[neighbour]]
port = "n6"
ip = "10.6.0.2"
mac = "02:00:00:00:06:02"
`

type UPF struct {
	ip, smf, gnb net.IP
	folder       string
	process      *exec.Cmd
	input        io.Closer
}

func startUpf(binary string) (*UPF, error) {
	id := os.Getpid()
	at := func(last byte) net.IP { return net.IPv4(127, 64|byte(id>>8)&63, byte(id), last).To4() }
	folder, err := os.MkdirTemp("", "splitplane-gopfcp-")
	if err != nil {
		return nil, err
	}
	upf := &UPF{ip: at(31), smf: at(32), gnb: at(33), folder: folder}
	file := filepath.Join(folder, "upf.toml")
	if err := os.WriteFile(file, fmt.Appendf(nil, config, folder, upf.ip, upf.smf), 0o600); err != nil {
		return nil, err
	}
	upf.process = exec.Command(binary, "run", "--config", file, "--report", filepath.Join(folder, "report.json"), "--until-input-ends")
	upf.process.Stderr = os.Stderr
	input, err := upf.process.StdinPipe()
	if err != nil {
		return nil, err
	}
	output, err := upf.process.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := upf.process.Start(); err != nil {
		return nil, err
	}
	upf.input = input
	line, err := bufio.NewReader(output).ReadString('\n')
	if err != nil || line != "ready\n" {
		upf.kill()
		return nil, fmt.Errorf("the UPF did not start: %q, %v", line, err)
	}
	go io.Copy(io.Discard, output)
	return upf, nil
}

// Ends it as its operator does.
func (upf *UPF) stop() { upf.input.Close() }

// Waits for its end; its exit code says whether all packets are accounted for.
func (upf *UPF) ended() (int, error) {
	late := time.AfterFunc(patience, func() { upf.process.Process.Kill() })
	defer late.Stop()
	err := upf.process.Wait()
	if _, ended := err.(*exec.ExitError); err != nil && !ended {
		return 0, err
	}
	return upf.process.ProcessState.ExitCode(), nil
}

// What it reports of N4: messages by type.
type report struct {
	Messages map[string]struct{ Received uint64 } `json:"n4_messages"`
}

// Its report, when it has ended.
func (upf *UPF) report() (report, error) {
	var report report
	octets, err := os.ReadFile(filepath.Join(upf.folder, "report.json"))
	if err == nil {
		err = json.Unmarshal(octets, &report)
	}
	return report, err
}

func (upf *UPF) kill() {
	if upf.process.ProcessState == nil {
		upf.process.Process.Kill()
		upf.process.Wait()
	}
	os.RemoveAll(upf.folder)
}
