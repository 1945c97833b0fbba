@echo off
rem Starts ForgetMeNot from this folder and opens its dock in the browser: a double-click is enough.
cd /d "%~dp0"
set "PYTHON=py -3"
%PYTHON% -c "import sys; sys.exit(sys.version_info < (3, 11))" >nul 2>nul && goto found
set "PYTHON=python"
%PYTHON% -c "import sys; sys.exit(sys.version_info < (3, 11))" >nul 2>nul && goto found
echo ForgetMeNot needs Python 3.11 or newer. Install it from https://www.python.org/downloads/ and start this again.
pause
exit /b 1
:found
%PYTHON% "%~dp0scripts\run.py" start %*
if errorlevel 1 pause
