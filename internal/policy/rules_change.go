package policy

import "strings"

// changer judges commands that change files and processes.
func (c *call) changer() bool {
	switch c.name {
	case "rm":
		c.raise(Medium, "it deletes files")
		if c.short("rR") || c.long("recursive") {
			c.raise(High, "it deletes whole directories")
		}
	case "chmod", "chown", "chgrp":
		c.raise(Medium, "it changes permissions")
		if c.short("R") || c.long("recursive") {
			c.raise(High, "it changes the permissions of whole directories")
		}
		c.changePaths(1)
		return true
	case "ln":
		c.raise(Medium, "it makes links")
		for _, w := range c.args {
			if strings.Contains(w.text, "..") {
				c.hard("where the link leads depends on where it lies")
			}
		}
	case "mv", "cp", "mkdir", "rmdir", "touch", "truncate", "unlink", "mktemp", "mkfifo", "install", "tee", "patch", "split",
		"csplit", "dos2unix", "unix2dos", "gofmt", "gofumpt", "goimports", "ditto", "rename", "link":
		c.raise(Medium, "it changes files")
		switch c.name {
		case "mv", "cp", "mkdir", "touch", "tee":
			c.step.edits = true
		}
		if strings.HasPrefix(c.name, "go") && !c.goOption("w") {
			c.step.risk, c.step.reason = Low, ""
		}
	case "tar", "bsdtar", "gtar":
		c.tar()
	case "zip", "unzip", "gzip", "gunzip", "xz", "unxz", "bzip2", "bunzip2", "zstd", "unzstd", "7z", "cpio", "ar", "pax":
		c.raise(Medium, "it packs or unpacks files")
		if c.name == "zip" && (c.short("T") || c.long("unzip-command")) || c.name == "cpio" || c.name == "pax" {
			c.hard("it can run programs or write anywhere")
		}
	case "kill", "pkill", "killall":
		c.raise(Medium, "it ends processes")
		c.hard("which processes it ends is not known here")
		return true
	default:
		return false
	}
	c.paths(c.args, true)
	return true
}

// changePaths judges operands after the first ones as paths that change.
func (c *call) changePaths(skip int) {
	for _, w := range operands(c.args) {
		if skip > 0 && w.known {
			skip--
			continue
		}
		c.path(w, true)
	}
}

func (c *call) tar() {
	mode := ""
	if len(c.args) > 0 {
		mode = strings.TrimPrefix(c.args[0].text, "-")
	}
	if !strings.Contains(mode, "t") && !c.long("list") || strings.HasPrefix(mode, "-") || strings.ContainsAny(mode, "xcru") {
		c.raise(Medium, "it packs or unpacks files")
	}
	if c.long("to-command", "checkpoint-action", "use-compress-program", "rmt-command", "rsh-command", "info-script",
		"new-volume-script", "absolute-names", "files-from", "transform", "xform") || c.short("IFPT") || strings.ContainsAny(mode, "IFPT") {
		c.hard("its options can run programs or write anywhere")
	}
}

// dangerous judges commands of high risk, and those that reach a service or a
// terminal and are never granted for a whole session.
func (c *call) dangerous() bool {
	switch c.name {
	case "curl", "wget", "nc", "ncat", "netcat", "socat", "telnet", "ssh", "scp", "sftp", "ftp", "tftp", "lftp", "rsync", "nmap",
		"masscan", "tcpdump", "http", "https", "xh", "aria2c", "axel", "mail", "mailx", "sendmail", "mutt", "ssh-copy-id", "mosh",
		"ssh-add", "ngrok", "dig", "host", "nslookup", "ping", "traceroute", "whois", "rclone":
		c.raise(High, "it reaches the network")
		c.reach()
	case "dd", "fdisk", "sfdisk", "gdisk", "parted", "mount", "umount", "losetup", "cryptsetup", "lvremove", "vgremove", "pvremove",
		"wipefs", "blkdiscard", "hdparm", "swapoff", "swapon", "shred", "wipe", "srm", "diskutil":
		c.raise(High, "it can destroy data")
	case "shutdown", "reboot", "halt", "poweroff", "init", "telinit", "systemctl", "service", "launchctl", "crontab", "at", "batch",
		"useradd", "userdel", "usermod", "groupadd", "groupdel", "adduser", "deluser", "passwd", "chpasswd", "visudo", "chsh", "insmod", "rmmod",
		"modprobe", "sysctl", "iptables", "ip6tables", "nft", "ufw", "chroot", "nsenter", "unshare", "setcap", "chattr", "setfacl",
		"csrutil", "defaults", "dscl", "security", "update-alternatives", "ldconfig", "kexec", "dmsetup", "loginctl", "systemd-run":
		c.raise(High, "it changes the system")
	case "docker", "podman", "nerdctl", "kubectl", "helm", "terraform", "tofu", "ansible", "ansible-playbook", "vagrant", "aws",
		"gcloud", "az", "gh", "glab", "heroku", "flyctl", "psql", "mysql", "sqlite3", "redis-cli", "mongosh", "openssl", "gpg":
		c.raise(Medium, "it reaches a service or runs programs")
		if c.name != "sqlite3" && c.name != "gpg" && c.name != "openssl" || c.word("s_client", "s_time", "ocsp") {
			c.reach()
		}
		c.hard(c.name + " can reach services and run programs")
	case "vi", "vim", "nvim", "view", "ex", "ed", "emacs", "nano", "pico", "less", "more", "man", "info", "watch", "parallel", "script",
		"expect", "tmux", "screen", "flock", "strace", "ltrace", "gdb", "lldb", "valgrind", "perf", "entr", "open",
		"xdg-open", "setpriv", "prlimit", "numactl", "firejail", "bwrap", "fakeroot", "proot", "runuser", "sg", "newgrp", "gosu", "tini",
		"dumb-init", "watchexec", "xvfb-run", "ssh-agent", "ssh-keygen", "dbus-run-session", "faketime", "eatmydata", "m4", "dc", "dbus-send", "osascript", "xclip", "pbcopy", "pbpaste", "crash", "unbuffer":
		c.raise(Medium, "it runs programs or needs a terminal")
		c.hard(c.name + " can run other programs")
	default:
		if !strings.HasPrefix(c.name, "mkfs") {
			return false
		}
		c.raise(High, "it can destroy data")
	}
	c.forbiddenOnly()
	return true
}

// forbiddenOnly looks for forbidden paths among the arguments and leaves the
// rest to the person who is asked.
func (c *call) forbiddenOnly() {
	reason, hard := c.step.reason, c.step.hard
	c.paths(c.args, false)
	c.step.reason, c.step.hard = reason, hard
}
