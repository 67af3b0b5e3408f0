package config

// SchemaVersion is the layout of config.toml this version reads.
const SchemaVersion = 1

// MainAgent is the alias of the agent that exists when the file names none.
const MainAgent = "main"

// Default returns the configuration of an empty file, without any agent.
func Default() *Config {
	return &Config{
		SchemaVersion: SchemaVersion,
		DataDir:       "data",
		ACP: ACP{
			Enabled:                true,
			MaxSessions:            10,
			SessionTimeoutSecs:     3600,
			TurnGraceMinutes:       30,
			ConcurrentPrompt:       "queue",
			MaxMessageBytes:        64 << 20,
			Dispatch:               Dispatch{Enabled: true},
			AllowedAgents:          []string{},
			MaxConcurrentHarnesses: 8,
			Stream:                 Stream{Delivery: "live", Show: []string{}},
		},
		Autonomy: defaultAutonomy(),
		Gateway: Gateway{
			Host:           "127.0.0.1",
			Port:           42617,
			RequirePairing: true,
			AllowedOrigins: []string{},
			AllowedHosts:   []string{},
			TrustedProxies: []string{},
			Limits:         Limits{Connections: 2048, RequestsPerMinute: 60000, BufferedBytes: 16 << 20},
			TLS:            TLS{ACMEDomains: []string{}},
		},
		Hooks:     Hooks{TimeoutSecs: 10},
		Session:   Session{ThreadBindings: ThreadBindings{SpawnSessions: true, IdleMinutes: 1440}},
		Tools:     Tools{Sessions: SessionTools{Visibility: "own"}},
		Telemetry: Telemetry{LogLevel: "warn", LogFormat: "text", Metrics: true},
		Providers: map[string]Provider{},
		Agents:    map[string]Agent{},
		Harnesses: map[string]Harness{},
		MCP:       MCP{Servers: map[string]MCPServer{}},
		Owners:    map[string]Owner{},
	}
}

func defaultAutonomy() Autonomy {
	return Autonomy{
		Level:           "supervised",
		WorkspaceOnly:   true,
		ForbiddenPaths:  defaultForbiddenPaths(),
		AllowedRoots:    []string{},
		AllowedCommands: defaultAllowedCommands(),
		AutoApprove: []string{
			"file_read", "list_dir", "glob_search", "content_search",
			"todo", "read_skill", "ask_user", "escalate_to_human",
		},
		AlwaysAsk: []string{},
		Deny:      []string{},
		Sandbox:   "auto",
		Network:   "ask",
	}
}

// defaultForbiddenPaths are system settings and the places where credentials
// live. /root, /dev and /tmp are absent: root's own home, /dev/null and
// temporary files are everyday needs, and other rules cover the rest.
func defaultForbiddenPaths() []string {
	return []string{
		"/etc", "/boot", "/proc", "/sys", "/private/etc",
		"~/.ssh", "~/.gnupg", "~/.aws", "~/.azure", "~/.kube", "~/.docker",
		"~/.config/gcloud", "~/.config/gh", "~/.config/op",
		"~/.password-store", "~/.local/share/keyrings", "~/Library/Keychains",
		"~/.netrc", "~/.git-credentials", "~/.npmrc", "~/.pypirc",
		"~/.cargo/credentials.toml",
	}
}

// defaultAllowedCommands read and report; what they write or delete is asked
// about. Programs that run a repository's own code (builds, tests, package
// managers) or show the environment are absent. rm is here so that deleting a
// tree is asked about each time instead of being refused.
func defaultAllowedCommands() []string {
	return []string{
		"awk", "basename", "cat", "cd", "cmp", "comm", "cut", "date", "df", "diff",
		"dirname", "du", "echo", "false", "file", "find", "git", "grep", "head",
		"jq", "ls", "nl", "printf", "pwd", "readlink", "realpath", "rg", "rm",
		"sed", "sort", "stat", "tail", "test", "tr", "tree", "true", "uname", "uniq", "wc", "which", "whoami",
	}
}

func defaultAgent() Agent {
	return Agent{
		Enabled:       true,
		MaxIterations: 50,
		Runtime:       Runtime{Type: DriverNative, Mode: "persistent"},
	}
}

// DefaultHarness returns the settings of a harness where neither the file nor
// the catalogue has a say.
func DefaultHarness() Harness {
	return Harness{
		PermissionMode:            "approve-reads",
		NonInteractivePermissions: "fail",
		StartTimeoutSecs:          new(60),
		IdleTTLMinutes:            new(30),
		Warm:                      new(0),
	}
}

func defaultMCPServer() MCPServer {
	return MCPServer{Transport: "stdio", TimeoutSecs: 180, Sandbox: true}
}

func defaultOwner() Owner { return Owner{Ceiling: "supervised"} }

// declare makes sure that the section a path leads into exists with its
// defaults, so that decoding fills in only what is written.
func (c *Config) declare(p Path) {
	switch {
	case len(p) >= 2 && p[0] == "agents":
		addDefault(c.Agents, p[1], defaultAgent)
	case len(p) >= 3 && p[0] == "mcp" && p[1] == "servers":
		addDefault(c.MCP.Servers, p[2], defaultMCPServer)
	case len(p) >= 2 && p[0] == "owners":
		addDefault(c.Owners, p[1], defaultOwner)
	}
}

func addDefault[T any](m map[string]T, name string, value func() T) {
	if _, ok := m[name]; !ok {
		m[name] = value()
	}
}

// complete fills in what depends on the whole: the agent main where none is
// named, and the defaults of list entries, which cannot be set beforehand.
func (c *Config) complete() {
	if len(c.Agents) == 0 {
		c.Agents[MainAgent] = defaultAgent()
		c.implicit = true
	}
	for i := range c.Bindings {
		b := &c.Bindings[i]
		orDefault(&b.Type, "acp")
		orDefault(&b.Account, "default")
		orDefault(&b.Mode, "persistent")
	}
}

func orDefault(s *string, value string) {
	if *s == "" {
		*s = value
	}
}
