; The installer for Windows, built by scripts/build_installer.py. It is the user's own: no administrator is asked.
[Setup]
AppId=ForgetMeNot-bot
AppName=ForgetMeNot
AppVersion={#Version}
VersionInfoVersion={#Version}
DefaultDirName={autopf}\ForgetMeNot
DefaultGroupName=ForgetMeNot
DisableProgramGroupPage=yes
PrivilegesRequired=lowest
ArchitecturesAllowed=x64compatible
ArchitecturesInstallIn64BitMode=x64compatible
SetupIconFile={#Icon}
UninstallDisplayIcon={app}\forgetmenot.exe
CloseApplications=yes
Compression=lzma2
SolidCompression=yes

[InstallDelete]
; files of the version before that this one does not have
Type: filesandordirs; Name: "{app}\_internal"

[Files]
Source: "{#Program}\*"; DestDir: "{app}"; Flags: recursesubdirs ignoreversion

[Icons]
Name: "{group}\ForgetMeNot"; Filename: "{app}\forgetmenotw.exe"

[Run]
Filename: "{app}\forgetmenotw.exe"; Description: "{cm:LaunchProgram,ForgetMeNot}"; Flags: nowait postinstall skipifsilent

[UninstallRun]
; revokes the log-ins and takes it out of autostart; the memory stays
Filename: "{app}\forgetmenot.exe"; Parameters: "uninstall --yes"; Flags: runhidden; RunOnceId: "uninstall"
