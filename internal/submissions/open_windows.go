package submissions

import "os"

// openOnly opens for reading. That a file is a regular one is looked at before and after.
const openOnly = os.O_RDONLY
