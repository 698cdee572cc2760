MOST = {{most}}
