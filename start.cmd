@echo off
rem Starts ForgetMeNot from this folder and opens its dock in the browser: a double-click is enough.
rem Windows shows a ZIP like a folder, but a file that is started in it stands alone.
if not exist "%~dp0scripts\run.py" (
    echo Unpack the ZIP first: right-click it, choose "Extract All", and start start.cmd in the new folder.
    pause
    exit /b 1
)
cd /d "%~dp0"
set "PYTHON=py -3"
%PYTHON% -c "import sys; sys.exit(sys.version_info < (3, 11))" >nul 2>nul && goto found
set "PYTHON=python"
%PYTHON% -c "import sys; sys.exit(sys.version_info < (3, 11))" >nul 2>nul && goto found
echo ForgetMeNot needs Python 3.11 or newer. The page that opens now has it. Install it and start this again.
start "" https://www.python.org/downloads/
pause
exit /b 1
:found
%PYTHON% "%~dp0scripts\run.py" start %*
if errorlevel 1 pause
