package sandbox

// NetworkUse is what a job with a network did with it.
type NetworkUse struct {
	// Connections are the first that it asked for, in the order in which they ended; More counts those after them.
	Connections []Connection `json:"connections,omitempty"`
	More        int64        `json:"more,omitempty"`
	// Refused counts those among all of them that were not allowed.
	Refused int64 `json:"refused,omitempty"`
	// Sent and Received are bytes over all of them, as the program's side sees it.
	Sent     int64 `json:"sent_bytes"`
	Received int64 `json:"received_bytes"`
}

// ConnectionVerdict tells what became of a connection.
type ConnectionVerdict string

// What becomes of connections.
const (
	// ConnectionAllowed were made.
	ConnectionAllowed ConnectionVerdict = "allowed"
	// ConnectionRefused were against a rule, or reached one of its limits.
	ConnectionRefused ConnectionVerdict = "refused"
	// ConnectionFailed were allowed and the server could not be found or reached.
	ConnectionFailed ConnectionVerdict = "failed"
)

// Connection is one that a program asked the proxy for.
type Connection struct {
	// Host and Port are what it asked for, empty and 0 if that was not understood.
	Host string `json:"host,omitempty"`
	Port int    `json:"port,omitempty"`
	// Verdict tells what became of it, and Reason why it was refused, failed, or was cut.
	Verdict ConnectionVerdict `json:"verdict"`
	Reason  string            `json:"reason,omitempty"`
	// Sent and Received are its bytes, as the program's side sees it.
	Sent     int64 `json:"sent_bytes"`
	Received int64 `json:"received_bytes"`
	// Duration is from the request to the end.
	Duration Seconds `json:"duration_seconds"`
}
