package session

import (
	"context"

	"github.com/go-json-experiment/json/jsontext"
)

// Driver makes agents run: the native loop, or a harness. It never knows which
// surface is in front.
type Driver interface {
	// Open starts an epoch of a session: a new one, or one restored. It must
	// not wait for networks or MCP servers; those connect in the background.
	Open(ctx context.Context, req OpenRequest) (Handle, error)
}

// OpenRequest is what a driver gets to start with.
type OpenRequest struct {
	Info     Info
	Epoch    uint64
	Restored bool // the session has a past: read it from History
	// Config holds the values chosen earlier by config option id ("mode",
	// "model", "thought_level"); nil for a new session.
	Config map[string]string
	// History yields the driver's own private events in order (Kind
	// KindDriverPrivate), for a restored session.
	History func(ctx context.Context, yield func(Event) error) error
	// Servers are the client's MCP servers as it sent them (ACP McpServer);
	// never stored.
	Servers []jsontext.Value
	// Away: the client it is opened for has all the hands (Hands.Only), so that
	// nothing is to be started here, MCP servers included.
	Away bool
	Sink Sink
}

// Setup is what an opened agent offers a client at once, as ACP v1 JSON. Nil
// fields are absent.
type Setup struct {
	ConfigOptions jsontext.Value // array of SessionConfigOption
	Modes         jsontext.Value // SessionModeState
	Models        jsontext.Value // legacy SessionModelState
	Commands      jsontext.Value // array of AvailableCommand
	Usage         jsontext.Value // UsageUpdate, where there is anything to say
}

// Handle is one opened agent. The hub calls Prompt for one turn at a time;
// the other methods may come while it runs.
type Handle interface {
	Setup() Setup
	// Prompt runs one turn to its end and returns how it ended. ctx is
	// cancelled to cancel the turn: the driver then stops model and tools at
	// once and returns Stop Cancelled. A returned error fails the turn; a
	// *FailureError chooses the code, and one that is ErrDriverDied ends the
	// epoch too, so that the next prompt opens a new one. All its events were
	// emitted before it returns; later ones with this turn are dropped.
	Prompt(ctx context.Context, turn Turn) (TurnEnd, error)
	// Steer adds content to the running turn, whose ID add has; the rest of add is
	// about what is added. ErrUnsupported if it cannot.
	Steer(ctx context.Context, add Turn) error
	// Set changes a config option ("mode", "model", "thought_level", …), emits
	// what changed and returns the whole Setup after it. A value it does not
	// offer is an InvalidError, and so is one beyond the rights of owner, who
	// chooses it; "" is the session's own.
	Set(ctx context.Context, owner, option, value string) (Setup, error)
	// Close ends the epoch and everything it started.
	Close(ctx context.Context) error
}

// Mortal is a Handle whose agent can end by itself, as a child process can.
// The hub then fails the running turn and opens a new epoch for the next one.
type Mortal interface {
	Handle
	// Done is closed when the agent has ended; Err then says what is known of it.
	Done() <-chan struct{}
	Err() error
}

// Granter is a Handle that keeps what people allowed for the whole session
// (Info.Grants) and asks again about what is taken back.
type Granter interface {
	Handle
	// Revoke takes back the given items of Info.Grants, by WithoutGrants. It holds
	// from the next decision on; the change goes to the sink before it returns.
	Revoke(ctx context.Context, grants jsontext.Value) error
}

// Commander is a Handle that knows commands: prompts that mean something else
// than words for the agent's model.
type Commander interface {
	Handle
	// Command returns the command that a prompt's content means; false where it is
	// a plain prompt. It does nothing and returns at once. It is asked about prompts
	// that come while a turn runs; those that come to an idle session are given to
	// Prompt, commands or not.
	Command(content []jsontext.Value) (Command, bool)
}

// Command is a prompt that means a command.
type Command struct {
	// Run does it beside the running turn. Nil: the command needs a turn of its own
	// and waits for it, whatever is configured for other prompts.
	Run func(ctx context.Context, by Commanding) (CommandDone, error)
}

// Commanding is who gave a command, and to what.
type Commanding struct {
	Role   Role
	Owner  string // "" for the session's own
	Status Status
}

// CommandDone is what a command answers.
type CommandDone struct {
	Text string // Markdown, for people
	// Stop asks the hub to cancel the running turn and every queued prompt.
	Stop bool
}

// Turn is one prompt on its way to a driver.
type Turn struct {
	ID      string
	Content []jsontext.Value // ACP ContentBlock, as the client sent them
	Role    Role             // of who prompted
	// Owner is who prompted, "" for the session's own owner. The turn may do no
	// more than both may.
	Owner string
	Hands Hands
}

// Draft is an event a driver wants recorded.
type Draft struct {
	Kind      Kind
	Retention Retention
	Version   uint8          // protocol version of Body: 1 or 2; 0 for private ones
	Body      jsontext.Value // whole params: {"sessionId":…,"update":{…}}
}

// Sink is where a driver puts what happens. Methods block for backpressure and
// fail when the epoch is over, with ctx, or when the store failed.
type Sink interface {
	// Emit records drafts in order. They are visible once committed.
	Emit(ctx context.Context, drafts ...Draft) error
	// Ask puts a permission or elicitation to the people attached and waits for
	// the verdict. body is the whole params; sessionId in it is the session's.
	// Denial for want of a person is a Verdict, not an error. The end of ctx
	// withdraws the request; with ErrSuperseded as its cause, because no answer
	// is needed any more.
	Ask(ctx context.Context, kind Kind, body jsontext.Value) (Verdict, error)
	// CanAsk reports whether somebody attached could answer this kind now.
	CanAsk(kind Kind) bool
	// Change patches the session's Info (title, grants, foreign id) together
	// with what is emitted next. Those attached are told of a title. One that a
	// person chose stays unless the change says whose it is (TitleSet).
	Change(ctx context.Context, change InfoChange) error
}

// Verdict settles a request to people, once.
type Verdict struct {
	Request string         `json:"request"` // event id of the request
	Outcome Outcome        `json:"outcome"`
	Option  string         `json:"option,omitzero"`  // permission: the chosen optionId, one that was offered
	Content jsontext.Value `json:"content,omitzero"` // elicitation: the accepted content
	By      string         `json:"by,omitzero"`      // attachment or rule
	Owner   string         `json:"owner,omitzero"`   // whose attachment it was
	Reason  string         `json:"reason,omitzero"`  // why, when nobody chose: "expired", "cancelled", …
}

// Outcome of a request to people.
type Outcome string

// The outcomes. Only Selected and Accepted are a person's yes or choice;
// Declined is a person's no; Withdrawn is everything that was no person's
// decision (expiry, cancel, nobody attached, a broken answer): denied. A
// permission answered with an option of a reject kind is Declined, its Option
// set; so Selected means allowed.
const (
	Selected  Outcome = "selected"
	Accepted  Outcome = "accepted"
	Declined  Outcome = "declined"
	Withdrawn Outcome = "withdrawn"
)

// Hands are the client's own file system and terminals, where it offered them
// and the prompt came from it. Nil fields were not offered. A call begun after
// the client left does nothing and fails with ErrHandsGone; the host's are to be
// used then.
type Hands struct {
	FS        FS
	Terminals Terminals
	// Only says that everything is to be done by these hands, of which none is
	// nil, and nothing on the host: not even where they are gone.
	Only bool
}

// FS reads and writes text through the client, unsaved buffers included (ACP
// fs/*). Paths are absolute. A missing file is an error matching fs.ErrNotExist.
type FS interface {
	// ReadTextFile reads limit lines from line on (1-based; 0 means all).
	ReadTextFile(ctx context.Context, path string, line, limit int) (string, error)
	WriteTextFile(ctx context.Context, path, content string) error
}

// Terminals runs commands in the client's terminals (ACP terminal/*).
type Terminals interface {
	CreateTerminal(ctx context.Context, argv []string, cwd string, env map[string]string, limit int64) (id string, err error)
	TerminalOutput(ctx context.Context, id string) (out string, truncated bool, exit *TerminalExit, err error)
	WaitTerminal(ctx context.Context, id string) (TerminalExit, error)
	KillTerminal(ctx context.Context, id string) error
	ReleaseTerminal(ctx context.Context, id string) error
}

// TerminalExit is how a command in a client's terminal ended.
type TerminalExit struct {
	Code   *int   // nil when a signal ended it
	Signal string // "" when it exited
}
